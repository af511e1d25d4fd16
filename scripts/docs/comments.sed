# House style to Doxygen's: the comment a file begins with is about the file, a comment behind a member is its documentation.
1s|^// |/// \\file\n/// |
1,/^#pragma once/s|^//\( .*\)\{0,1\}$|///\1|
s|\([;,{}]\) *// |\1 ///< |
s|^\( *\)// |\1/// |
